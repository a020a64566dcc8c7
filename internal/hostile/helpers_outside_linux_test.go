package hostile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// watch returns a function that lists the entries of the directories that were opened or changed since the call, even
// if no trace remains. It returns nil if the system has no watch left.
func watch(t *testing.T, dirs ...string) func() []string {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Logf("opening files outside of the tree is not watched: %v", err)
		return nil
	}
	t.Cleanup(func() { unix.Close(fd) })
	names := make(map[int]string)
	for _, dir := range dirs {
		wd, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_ACCESS|unix.IN_MODIFY|unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVE|unix.IN_ATTRIB)
		if err != nil {
			t.Logf("opening files outside of the tree is not watched: %v", err)
			return nil
		}
		names[wd] = dir
	}
	return func() []string {
		var all []string
		buf := make([]byte, 64<<10)
		for {
			n, err := unix.Read(fd, buf)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || n <= 0 {
				return all
			}
			for events := buf[:n]; len(events) >= unix.SizeofInotifyEvent; {
				wd := int(int32(binary.NativeEndian.Uint32(events)))
				mask := binary.NativeEndian.Uint32(events[4:])
				size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
				name := string(bytes.TrimRight(events[unix.SizeofInotifyEvent:size], "\x00"))
				all = append(all, fmt.Sprintf("%s: event %#x", filepath.Join(names[wd], name), mask))
				events = events[size:]
			}
		}
	}
}
