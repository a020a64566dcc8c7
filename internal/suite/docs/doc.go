// Package docs is a test-only package: it checks that the pages of docs/ and the README agree with the code.
package docs
