module github.com/millrace-go/millrace/cmd/millrace

go 1.26.0

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4
	github.com/creack/pty v1.1.24
	github.com/google/go-cmp v0.7.0
	github.com/millrace-go/millrace v0.0.0
	github.com/millrace-go/millrace/gocode v0.0.0
	github.com/millrace-go/millrace/mcpserver v0.0.0
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/afero v1.15.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.10
	go.yaml.in/yaml/v4 v4.0.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	golang.org/x/text v0.28.0
	pgregory.net/rapid v1.3.0
)

require golang.org/x/mod v0.41.0 // indirect

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/millrace-go/millrace/yamlform v0.0.0
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)

replace github.com/millrace-go/millrace => ../../

replace github.com/millrace-go/millrace/mcpserver => ../../mcpserver

replace github.com/millrace-go/millrace/yamlform => ../../yamlform

replace github.com/millrace-go/millrace/gocode => ../../gocode
