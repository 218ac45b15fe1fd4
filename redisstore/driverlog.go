package redisstore

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogDriver sends the Redis driver's own messages (a lost connection, a failed
// dial) to a logger, at debug level: the calls that suffered say it themselves.
// The driver has one logger a process, so call it once, before Open.
func LogDriver(log *slog.Logger) { redis.SetLogger(driverLog{log}) }

type driverLog struct{ log *slog.Logger }

func (d driverLog) Printf(ctx context.Context, format string, v ...any) {
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.DebugContext(ctx, "redis driver", "message", fmt.Sprintf(format, v...))
	}
}
