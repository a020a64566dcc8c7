module github.com/millrace-go/millrace/schemacheck

go 1.26.0

require (
	github.com/millrace-go/millrace v0.0.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
)

replace github.com/millrace-go/millrace => ../
