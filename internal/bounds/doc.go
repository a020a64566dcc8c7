// Package bounds tests that no pipeline exceeds its cost limits. The tests generate pipelines of up to 64 KiB that
// demand too much, and run them on trees of 10 MB under the default limits. Each runs in a process whose memory and
// time are monitored.
//
// It has no code outside of tests.
package bounds
