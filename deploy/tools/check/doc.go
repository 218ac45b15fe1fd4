// Package check holds deploy/ to what a production setup must be like. It
// parses each file with the parser of whoever will read it (Docker's, compose's,
// systemd's) and then looks at what the parsers do not mind: users, rights,
// tags, times, names that must agree between two files.
//
// A check takes a file's text and returns its faults in words, so that the
// tests can also plant faults and see that they are found. Beyond that the tests
// run what they can: redis-server with compose.yaml's options, and the gateway
// with deploy's configuration on it and on a store of its own. `.ci/run deploy`
// runs all this; it has a go.mod of its own because of the parsers' weight. By
// hand: go test -count=1 . (the files that it reads are not its module's, so that
// Go would call an old result good).
//
// What is not checked: no container engine and no systemd runs here, so nothing
// is built into an image or started as a unit.
package check
