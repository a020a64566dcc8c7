//go:build linux && (amd64 || arm64)

package sandbox

// Requests are the requests of ioctl that are passed to the kernel unchanged.
var Requests = requests

// Listed returns the calls that are listed.
func Listed() []uint32 { return append(append([]uint32{}, listed...), listedHere...) }

// Decided returns the calls that are listed or have a rule.
func Decided() map[uint32]bool {
	all := make(map[uint32]bool)
	for _, call := range Listed() {
		all[call] = true
	}
	for _, r := range rules(versionRefer, false, ask) {
		all[r.call] = true
	}
	return all
}
