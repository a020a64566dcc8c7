module github.com/millrace-go/millrace

go 1.26.0

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4
	github.com/google/go-cmp v0.7.0
	github.com/spf13/afero v1.15.0
	golang.org/x/sync v0.24.0
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.28.0
	pgregory.net/rapid v1.3.0
)
