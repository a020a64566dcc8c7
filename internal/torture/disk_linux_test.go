package torture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// A disk is a file whose reads, writes and flushes this process sees, because it serves them with FUSE, to the extent
// that a loop device needs it. A real file system is on that device. So a power cut needs no luck and no torn copy: it
// is the state of the disk between two requests. Like that of a real disk, its cache is volatile: data written since
// the last flush may or may not be there, independently of other writes.
type disk struct {
	fd   int
	size int64

	mu      sync.Mutex
	now     blocks    // visible to reads
	durable blocks    // as of the last flush
	pending []written // since then, in order
	writes  int
	flushes int
}

const blockSize = 4096

// blocks are the blocks that are not all zeros, by number. The arrays are never changed, so that maps can share them.
type blocks map[int64]*[blockSize]byte

// written is one block after a write.
type written struct {
	n    int64
	data *[blockSize]byte
}

// readDisk reads an image, whose holes cost nothing.
func readDisk(image string) (*disk, error) {
	f, err := os.Open(image)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	d := &disk{fd: -1, size: info.Size(), now: make(blocks)}
	for off := int64(0); ; {
		off, err = f.Seek(off, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break
		}
		end, herr := f.Seek(off, unix.SEEK_HOLE)
		if err = errors.Join(err, herr); err != nil {
			return nil, err
		}
		for off -= off % blockSize; off < end; off += blockSize {
			b := new([blockSize]byte)
			if _, err := f.ReadAt(b[:], off); err != nil && err != io.EOF {
				return nil, err
			}
			d.now[off/blockSize] = b
		}
	}
	d.durable = maps.Clone(d.now)
	return d, nil
}

// mount makes the disk a file in the directory.
func (d *disk) mount(dir string) (string, error) {
	var err error
	if d.fd, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return "", fmt.Errorf("/dev/fuse: %w", err)
	}
	if err := unix.Mount("millrace", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", d.fd)); err != nil {
		return "", fmt.Errorf("mount fuse: %w", err)
	}
	go d.serve()
	return filepath.Join(dir, "disk"), nil
}

func (d *disk) read(off int64, p []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(p) > 0 {
		n := min(len(p), int(blockSize-off%blockSize))
		if b := d.now[off/blockSize]; b != nil {
			copy(p[:n], b[off%blockSize:])
		} else {
			clear(p[:n])
		}
		p, off = p[n:], off+int64(n)
	}
}

func (d *disk) write(off int64, p []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	for len(p) > 0 {
		b := new([blockSize]byte)
		if old := d.now[off/blockSize]; old != nil {
			*b = *old
		}
		n := copy(b[off%blockSize:], p)
		d.now[off/blockSize] = b
		d.pending = append(d.pending, written{off / blockSize, b})
		p, off = p[n:], off+int64(n)
	}
}

func (d *disk) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flushes++
	for _, w := range d.pending {
		d.durable[w.n] = w.data
	}
	d.pending = nil
}

// cut is a power cut: it returns the durable content of the disk, plus percent of the unflushed blocks, chosen at
// random. A block is not torn, as disks with sectors of its size promise; otherwise ext4, for example, may not be
// mountable.
func (d *disk) cut(rnd *rand.Rand, percent int) blocks {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := maps.Clone(d.durable)
	for _, w := range d.pending {
		if rnd.IntN(100) < percent {
			left[w.n] = w.data
		}
	}
	return left
}

// save writes an image.
func (d *disk) save(b blocks, image string) error {
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(d.size); err != nil {
		return err
	}
	for n, data := range b {
		if _, err := f.WriteAt(data[:], n*blockSize); err != nil {
			return err
		}
	}
	return f.Close()
}

// The requests of FUSE that are answered, from linux/fuse.h.
const (
	fuseLookup, fuseForget, fuseGetattr, fuseSetattr = 1, 2, 3, 4
	fuseOpen, fuseRead, fuseWrite, fuseStatfs        = 14, 15, 16, 17
	fuseRelease, fuseFsync, fuseFlush, fuseInit      = 18, 20, 25, 26
	fuseInterrupt, fuseBatchForget                   = 36, 42

	maxWrite = 128 << 10
	theRoot  = 1
	theFile  = 2
)

// serve answers requests until the file system is unmounted.
func (d *disk) serve() {
	in := make([]byte, maxWrite+blockSize)
	for {
		n, err := unix.Read(d.fd, in)
		if err == unix.EINTR || err == unix.EAGAIN || err == unix.ENOENT {
			continue
		}
		if err != nil || n < 40 {
			unix.Close(d.fd)
			return
		}
		op, unique, node := binary.NativeEndian.Uint32(in[4:]), in[8:16], binary.NativeEndian.Uint64(in[16:])
		if op == fuseForget || op == fuseBatchForget || op == fuseInterrupt {
			continue // they have no answer
		}
		body, errno := d.answer(op, node, in[40:n])
		out := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
		out = binary.NativeEndian.AppendUint32(out, uint32(-int32(errno)))
		out = append(append(out, unique...), body...)
		_, _ = unix.Write(d.fd, out) // it fails if nobody waits for the answer
	}
}

func (d *disk) answer(op uint32, node uint64, in []byte) ([]byte, unix.Errno) {
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	switch op {
	case fuseInit:
		out := make([]byte, 64)
		put := binary.NativeEndian.PutUint32
		put(out, 7)
		put(out[4:], 31)
		put(out[8:], u32(in[8:]))
		put(out[12:], 1<<5|1<<22) // writes of more than a page, and the maximum number of pages
		put(out[20:], maxWrite)
		put(out[24:], 1)
		binary.NativeEndian.PutUint16(out[28:], maxWrite/blockSize)
		return out, 0
	case fuseLookup:
		if string(in) != "disk\x00" {
			return nil, unix.ENOENT
		}
		out := make([]byte, 40)
		binary.NativeEndian.PutUint64(out, theFile)
		return append(out, d.attr(theFile)...), 0
	case fuseGetattr, fuseSetattr:
		return append(make([]byte, 16), d.attr(node)...), 0
	case fuseOpen:
		return make([]byte, 16), 0
	case fuseRead:
		off := int64(u64(in[8:]))
		out := make([]byte, max(0, min(int64(u32(in[16:])), d.size-off)))
		d.read(off, out)
		return out, 0
	case fuseWrite:
		size := u32(in[16:])
		d.write(int64(u64(in[8:])), in[40:40+size])
		return binary.NativeEndian.AppendUint64(nil, uint64(size)), 0
	case fuseFsync:
		d.flush()
		return nil, 0
	case fuseRelease, fuseFlush:
		return nil, 0
	case fuseStatfs:
		return make([]byte, 80), 0
	}
	return nil, unix.ENOSYS
}

// attr is a struct fuse_attr.
func (d *disk) attr(node uint64) []byte {
	mode, size := uint32(unix.S_IFDIR|0o755), int64(0)
	if node == theFile {
		mode, size = unix.S_IFREG|0o600, d.size
	}
	out := make([]byte, 88)
	binary.NativeEndian.PutUint64(out, node)
	binary.NativeEndian.PutUint64(out[8:], uint64(size))
	binary.NativeEndian.PutUint64(out[16:], uint64(size/512))
	binary.NativeEndian.PutUint32(out[60:], mode)
	binary.NativeEndian.PutUint32(out[64:], 1)
	binary.NativeEndian.PutUint32(out[80:], blockSize)
	return out
}
