// Package config reads the gateway's configuration, a YAML file, and finds all
// that is wrong with it at once (spec page 07).
//
//	bytes ──tree──▶ value ──object, list, text, …──▶ Config
//	                  │            │
//	                  └──▶ Fault ◀─┘   file:line:column: what is wrong; what to write
//
// tree.go is the only file that knows YAML: it gives a tree of values with
// their positions, free of aliases, variables and duplicate keys. node.go and
// scalar.go decode such a value into a Go value, or say at the value's position
// why not. Every other file is a section of the configuration: its types, and
// one function that asks for the section's keys. A key that nobody asked for is
// unknown. What has a place in the contract but is not built yet is listed in
// notbuilt.go, and nowhere else.
//
// # Variables and secrets
//
// ${NAME} in a value takes an environment variable; one that is not set is a
// fault. $${ is a plain ${. Numbers and truths can be variables too. Messages
// quote what is written, never what a variable holds.
//
// Each key that holds a secret has a twin with _file behind it that names a
// file with nothing but the secret in it; one of the two may be written. They
// are:
//
//	admin.tokens[].token              token_file
//	redis.url                         url_file
//	orchestrator.llm.api_key          api_key_file
//	sources.*.app_secret              app_secret_file
//	sources.*.encrypt_key             encrypt_key_file
//	sources.*.verification_token      verification_token_file
//	sources.*.webhook_secrets         webhook_secrets_file (a secret a line)
//	sources.*.auth.private_key        private_key_file
//	sources.*.auth.token              token_file
//
// Relative paths of these files start at the configuration's folder; data_dir
// starts at the working directory.
//
// # The echo's script
//
// An executor of kind echo can have a script, which page 07 is silent about: a
// list of steps that are played for each Ticket, each exactly one of
//
//   - say: "You asked: {{text}}"
//   - approve: {tool: deploy, preview: "kubectl apply", reason: "{{text}}"}
//   - done: "Deployed."
//
// where {{text}} stands for the text of the message. done is the last step.
package config
