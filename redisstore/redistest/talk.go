package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Do asks the server over its socket. A list comes back as its words, one a
// line; an error of the server is the error.
func (s *Server) Do(command ...string) (string, error) {
	conn, err := net.DialTimeout("unix", filepath.Join(s.dir, "redis.sock"), time.Second)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(conn, b.String()); err != nil {
		return "", err
	}
	words, err := reply(bufio.NewReader(conn))
	return strings.Join(words, "\n"), err
}

// reply reads one answer of the protocol (RESP2).
func reply(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	switch line[0] {
	case '-':
		return nil, errors.New(line[1:])
	case '$':
		return bulk(r, line[1:])
	case '*':
		return list(r, line[1:])
	}
	return []string{line[1:]}, nil
}

func bulk(r *bufio.Reader, length string) ([]string, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return nil, err
	}
	text := make([]byte, n+2)
	_, err = io.ReadFull(r, text)
	return []string{string(text[:n])}, err
}

func list(r *bufio.Reader, length string) ([]string, error) {
	n, err := strconv.Atoi(length)
	var out []string
	for i := 0; i < n && err == nil; i++ {
		var words []string
		words, err = reply(r)
		out = append(out, words...)
	}
	return out, err
}
