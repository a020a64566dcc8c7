// Package docs is a test-only package: it holds the pages of docs/ and the README to what the code does.
package docs
