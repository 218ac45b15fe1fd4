package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// defaultPage is the length of a page whose Limit is not set.
const defaultPage = 50

// listing reads one page of an index, newest first. The index may name rows
// that are gone or do not match any more: keep has the last word.
type listing[T stored] struct {
	store *Store
	index string
	key   func(id string) string
	keep  func(*T) bool
}

func (l listing[T]) page(ctx context.Context, p orchestrator.Page) ([]T, string, error) {
	from, err := parsePlace(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := p.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	var out []T
	var last place
	for offset := int64(0); ; {
		places, end, err := l.places(ctx, from, offset, int64(limit)+1)
		if err != nil {
			return nil, "", err
		}
		rows, err := l.rows(ctx, places)
		if err != nil {
			return nil, "", err
		}
		for i, row := range rows {
			if row == nil || !from.before(places[i]) {
				continue
			}
			if len(out) == limit {
				return out, last.String(), nil
			}
			out, last = append(out, *row), places[i]
		}
		if offset += int64(len(places)); end {
			return out, "", nil
		}
	}
}

// places reads a part of the index from a place on; end says that there is no
// more.
func (l listing[T]) places(ctx context.Context, from place, offset, n int64) (out []place, end bool, err error) {
	by := &redis.ZRangeBy{Min: "-inf", Max: "+inf", Offset: offset, Count: n}
	if from.id != "" {
		by.Max = strconv.FormatInt(from.at, 10)
	}
	members, err := l.store.client.ZRevRangeByScoreWithScores(ctx, l.index, by).Result()
	if err != nil {
		return nil, false, plain(err)
	}
	for _, m := range members {
		id, _ := m.Member.(string)
		out = append(out, place{int64(m.Score), id})
	}
	return out, int64(len(members)) < n, nil
}

// rows reads the records of the places; nil where there is none to show.
func (l listing[T]) rows(ctx context.Context, places []place) ([]*T, error) {
	out := make([]*T, len(places))
	var b batch
	for i, p := range places {
		key := l.key(p.id)
		b.keys = append(b.keys, key)
		b.keep = append(b.keep, func(row string) error {
			v, err := decodeRecord[T](key, row)
			if err == nil && l.keep(&v) {
				out[i] = &v
			}
			return err
		})
	}
	return out, b.load(ctx, l.store.client)
}

// place is where a row stands in a list: its time in ms, then its id. The zero
// place is before all.
type place struct {
	at int64
	id string
}

func (p place) String() string { return fmt.Sprintf("%d,%s", p.at, p.id) }

// before reports whether q comes after p, newest first.
func (p place) before(q place) bool {
	return p.id == "" || cmp.Or(cmp.Compare(q.at, p.at), strings.Compare(q.id, p.id)) < 0
}

func parsePlace(cursor string) (place, error) {
	if cursor == "" {
		return place{}, nil
	}
	at, id, ok := strings.Cut(cursor, ",")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil || id == "" {
		return place{}, fmt.Errorf("cursor %q: %w", cursor, approvals.ErrInvalid)
	}
	return place{ms, id}, nil
}
