package config

import _ "embed"

//go:embed config.schema.json
var schema []byte

//go:embed example.yaml
var example string

// Schema is the JSON schema (draft 2020-12) of the configuration file, for
// editors and for `gatehouse check --print-schema`. It knows the same keys as
// Parse, which knows more of what they may say.
func Schema() []byte { return append([]byte(nil), schema...) }

// Example is a commented configuration that parses without a fault, given the
// variables OPS_TOKEN, FEISHU_APP_SECRET, FEISHU_ENCRYPT_KEY and
// FEISHU_VERIFICATION_TOKEN.
func Example() string { return example }
