package redisstore

// DriverURL tells what the driver is asked for, and as what.
func DriverURL(address string) (url, form string, err error) {
	url, f, err := driverURL(address)
	return url, [...]string{"single", "cluster", "sentinel"}[f], err
}

// Squeezer squeezes many payloads, as one store does.
func Squeezer() func([]byte) []byte { return newPress().squeeze }

// Squeeze is the stored form of a payload, Expand its payload.
func Squeeze(body []byte) []byte { return newPress().squeeze(body) }

// Expand reads a stored form.
func Expand(stored []byte) ([]byte, error) { return newPress().expand(stored) }
