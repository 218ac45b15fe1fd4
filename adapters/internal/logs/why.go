// Package logs is what adapters share to log what helps an operator, and not
// more: fixed words for why a platform cannot be reached, and a bound on lines
// that strangers can cause.
package logs

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"
)

// Why says why a request got no answer, in words of our own: the errors of
// net/http hold addresses and queries. It is "" for none of the usual reasons.
func Why(err error) string {
	var (
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		notTLS  tls.RecordHeaderError
		timeout net.Error
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host"
	case errors.As(err, &dns):
		return "its name cannot be looked up"
	case errors.As(err, &cert):
		return "its certificate is not trusted"
	case errors.As(err, &notTLS):
		return "it does not speak TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "no route to it"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	}
	return ""
}
