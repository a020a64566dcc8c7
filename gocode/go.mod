module github.com/millrace-go/millrace/gocode

go 1.26.0

require (
	github.com/millrace-go/millrace v0.0.0
	github.com/spf13/afero v1.15.0
	golang.org/x/mod v0.41.0
	golang.org/x/tools v0.51.0
)

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.28.0 // indirect
)

replace github.com/millrace-go/millrace => ../
