package redisstore

// DriverURL tells what the driver is asked for, and as what.
func DriverURL(address string) (url, form string, err error) {
	url, f, err := driverURL(address)
	return url, [...]string{"single", "cluster", "sentinel"}[f], err
}
