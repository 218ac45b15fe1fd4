package config_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the tests see into testdata")

// env is the environment of the tests: every variable of the testdata.
func env(name string) (string, bool) {
	switch name {
	case "EMPTY":
		return "", true
	case "SHORT":
		return "short", true
	case "NUMBER":
		return "7", true
	case "YES":
		return "true", true
	case "NOT_THERE":
		return "", false
	}
	return "the-" + strings.ToLower(name) + "-of-the-tests", true
}

const privateKey = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\n"

// readFile is the disk of the tests.
func readFile(name string) ([]byte, error) {
	files := map[string]string{
		"key.pem":     privateKey,
		"cert.pem":    strings.ReplaceAll(privateKey, "RSA PRIVATE KEY", "CERTIFICATE"),
		"spare-token": "the-spare-token-of-the-tests\n",
		"hooks":       "first-webhook-secret\r\n\nsecond-webhook-secret\n",
		"short-hooks": "first-webhook-secret\nsecond\n",
		"gh-token":    "ghp_of-the-tests",
		"empty":       "\n",
		"redis-url":   "redis://a:6379,b:6379\n",
		"huge":        strings.Repeat("x", 64<<10+1),
	}
	text, ok := files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// golden compares got with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", name), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(testdata(t, name)); got != want {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}
