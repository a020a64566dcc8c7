// Package archtest has no code, only tests of rules that the compiler does not check: the imports that each package may
// have, and things that no source file may have (init functions, package variables that change, more than 400 lines).
package archtest
