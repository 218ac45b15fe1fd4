package redisstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// form is the schema version of everything that this gateway writes (RS-7). A
// stored row is "<number> <form>\n<JSON>"; the number is the record's version,
// or the time in ms before which an outbox row must not be sent.
const form = 1

var errMalformed = errors.New("malformed record")

// encode gives the stored form of a value.
func encode(number int64, v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	head := make([]byte, 0, 24+len(text))
	head = strconv.AppendInt(head, number, 10)
	head = append(head, ' ')
	head = strconv.AppendInt(head, form, 10)
	head = append(head, '\n')
	return string(append(head, text...)), nil
}

// decode reads a stored form into v and returns its number. A row of a newer
// form is ErrNewer; an older one is read as what it was.
func decode(stored string, v any) (number int64, err error) {
	head, text, ok := bytes.Cut([]byte(stored), []byte("\n"))
	n, f, ok2 := bytes.Cut(head, []byte(" "))
	if !ok || !ok2 {
		return 0, errMalformed
	}
	number, err = strconv.ParseInt(string(n), 10, 64)
	if err != nil {
		return 0, errMalformed
	}
	if err := known(string(f)); err != nil {
		return 0, err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return 0, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return number, nil
}

// known refuses forms that only a newer gateway can read. Form 1 is the first,
// so there is nothing older to translate yet.
func known(f string) error {
	n, err := strconv.Atoi(f)
	if err != nil {
		return errMalformed
	}
	if n > form {
		return fmt.Errorf("form %d, this gateway knows %d: %w", n, form, orchestrator.ErrNewer)
	}
	return nil
}

// stored are the values that are kept as rows of their own.
type stored interface {
	orchestrator.Thread | orchestrator.Ticket | orchestrator.Message | orchestrator.Eval | orchestrator.Chat | orchestrator.Reach |
		orchestrator.PolicyRecord | orchestrator.PolicyVersion | orchestrator.Decision | orchestrator.Input | approvals.Question
}

// decodeRecord reads a row with the version it is stored at.
func decodeRecord[T stored](key, row string) (T, error) {
	var v T
	version, err := decode(row, &v)
	if err != nil {
		return v, fmt.Errorf("read %s: %w", key, err)
	}
	setVersion(&v, version)
	return v, nil
}

func setVersion(v any, version int64) {
	switch v := v.(type) {
	case *orchestrator.Thread:
		v.Version = version
	case *orchestrator.Ticket:
		v.Version = version
	case *orchestrator.Message:
		v.Version = version
	case *orchestrator.Eval:
		v.Version = version
	case *orchestrator.Chat:
		v.Version = version
	case *orchestrator.Reach:
		v.Version = version
	case *orchestrator.PolicyRecord:
		v.Version = version
	case *approvals.Question:
		v.Version = version
	}
}
