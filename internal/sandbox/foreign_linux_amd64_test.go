package sandbox_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/internal/sandbox"
)

// foreign are programs, in machine code, that request a socket with numbers other than those of amd64. They exit with 0
// if they get one, and with 3 if not.
var foreign = []struct {
	name string
	bits int
	code []byte
}{
	{"a program of 32 bits", 32, []byte{
		0x6a, 0, 0x6a, 1, 0x6a, 2, // push the protocol, the type and the family
		0x89, 0xe1, // mov ecx, esp
		0xb8, 102, 0, 0, 0, // mov eax, socketcall
		0xbb, 1, 0, 0, 0, // mov ebx, socket
		0xcd, 0x80, // int 0x80
		0x31, 0xdb, // xor ebx, ebx
		0x85, 0xc0, 0x79, 5, // test eax, eax; jns
		0xbb, 3, 0, 0, 0, // mov ebx, 3
		0xb8, 1, 0, 0, 0, 0xcd, 0x80, // exit
	}},
	{"a call of 32 bits", 64, append([]byte{
		0xb8, 0x67, 1, 0, 0, // mov eax, socket
		0xbb, 2, 0, 0, 0, 0xb9, 1, 0, 0, 0, 0x31, 0xd2, // the family, the type and the protocol
		0xcd, 0x80, // int 0x80
	}, exit...)},
	{"a call of x32", 64, append([]byte{
		0xb8, 41, 0, 0, 0x40, // mov eax, socket of x32
		0xbf, 2, 0, 0, 0, 0xbe, 1, 0, 0, 0, 0x31, 0xd2, // the family, the type and the protocol
		0x0f, 0x05, // syscall
	}, exit...)},
}

// exit ends a program of 64 bits.
var exit = []byte{
	0x31, 0xff, // xor edi, edi
	0x85, 0xc0, 0x79, 5, // test eax, eax; jns
	0xbf, 3, 0, 0, 0, // mov edi, 3
	0xb8, 60, 0, 0, 0, 0x0f, 0x05, // exit
}

// program returns the smallest file that the kernel runs.
func program(bits int, code []byte) []byte {
	const base, align = 0x400000, 0x1000
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // into memory
		}
	}
	class, machine, header, segment := byte(1), uint16(3), 52, 32
	if bits == 64 {
		class, machine, header, segment = 2, 62, 64, 56
	}
	size := header + segment + len(code)
	put([]byte{0x7f, 'E', 'L', 'F', class, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, uint16(2), machine, uint32(1))
	if bits == 64 {
		put(uint64(base+header+segment), uint64(header), uint64(0))
	} else {
		put(uint32(base+header+segment), uint32(header), uint32(0))
	}
	put(uint32(0), uint16(header), uint16(segment), uint16(1), uint16(0), uint16(0), uint16(0))
	if bits == 64 {
		put(uint32(1), uint32(5), uint64(0), uint64(base), uint64(base), uint64(size), uint64(size), uint64(align))
	} else {
		put(uint32(1), uint32(0), uint32(base), uint32(base), uint32(size), uint32(size), uint32(5), uint32(align))
	}
	put(code)
	return b.Bytes()
}

// A call whose number or meaning differs for the filter cannot bypass it.
func TestForeign(t *testing.T) {
	protected(t)
	for _, f := range foreign {
		t.Run(f.name, func(t *testing.T) {
			p := newPlace(t)
			name := filepath.Join(p.tree, "program")
			if err := os.WriteFile(name, program(f.bits, f.code), 0o755); err != nil {
				t.Fatal(err)
			}
			_, err := sandbox.Run(exec.Command(name), p.rules(t), nil)
			if errors.Is(err, syscall.ENOEXEC) {
				t.Skipf("this kernel runs no such program: %v", err)
			}
			var ended *exec.ExitError
			if !errors.As(err, &ended) {
				t.Errorf("inside: %v, want a program that has failed", err)
			}
			t.Logf("inside: %v", err)
			if _, err := sandbox.Run(exec.Command(name), nil, nil); err != nil {
				t.Skipf("NOT TOLD APART: outside it fails as well: %v", err)
			}
		})
	}
}
