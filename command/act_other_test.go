//go:build !unix

package command_test

func actOn(string, []string) int { return 2 }
