package ownbackend

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
)

// tables are both tables in a transaction. Names are relative to the root, which is "" and has no row.
type tables struct {
	names *bolt.Bucket // from the name to the number
	nodes *bolt.Bucket // from the number to the node
}

// node is a file or a directory. Its bytes belong to the transaction.
type node struct {
	mode fs.FileMode
	time time.Time
	data []byte
}

// headSize is the length of mode and time in a row.
const headSize = 4 + 8

func (n node) row() []byte {
	row := binary.BigEndian.AppendUint32(make([]byte, 0, headSize+len(n.data)), uint32(n.mode))
	row = binary.BigEndian.AppendUint64(row, uint64(n.time.UnixNano()))
	return append(row, n.data...)
}

func nodeOf(row []byte) (node, error) {
	if len(row) < headSize {
		return node{}, fs.ErrNotExist
	}
	return node{
		mode: fs.FileMode(binary.BigEndian.Uint32(row)),
		time: time.Unix(0, int64(binary.BigEndian.Uint64(row[4:]))),
		data: row[headSize:],
	}, nil
}

// find returns the number and the node of a name. The root has no number.
func (t tables) find(name string) (id []byte, n node, err error) {
	if name == "" {
		return nil, node{mode: fs.ModeDir | 0o755}, nil
	}
	if id = t.names.Get([]byte(name)); id == nil {
		return nil, node{}, fs.ErrNotExist
	}
	n, err = nodeOf(t.nodes.Get(id))
	return id, n, err
}

// inDir fails if the directory of a name is absent or a file.
func (t tables) inDir(name string) error {
	_, parent, err := t.find(parentOf(name))
	if err == nil && !parent.mode.IsDir() {
		err = syscall.ENOTDIR
	}
	return err
}

// add makes a node with a name that must be absent.
func (t tables) add(name string, mode fs.FileMode) (id []byte, err error) {
	if _, _, err := t.find(name); err == nil {
		return nil, fs.ErrExist
	}
	if err := t.inDir(name); err != nil {
		return nil, err
	}
	number, err := t.nodes.NextSequence()
	if err != nil {
		return nil, err
	}
	id = binary.BigEndian.AppendUint64(nil, number)
	if err := t.nodes.Put(id, node{mode: mode, time: time.Now()}.row()); err != nil {
		return nil, err
	}
	return id, t.names.Put([]byte(name), id)
}

// remove removes a file or an empty directory.
func (t tables) remove(name string) error {
	id, n, err := t.find(name)
	if err != nil {
		return err
	}
	if n.mode.IsDir() && (name == "" || t.any(name)) {
		return syscall.ENOTEMPTY
	}
	id = bytes.Clone(id)
	if err := t.names.Delete([]byte(name)); err != nil {
		return err
	}
	return t.nodes.Delete(id)
}

// rename moves a node with everything below it. It replaces a file by a file, and an empty directory by a directory.
func (t tables) rename(from, to string) error {
	_, n, err := t.find(from)
	if err != nil {
		return err
	}
	if from == to {
		return nil
	}
	if from == "" || to == "" || strings.HasPrefix(to, from+"/") {
		return fs.ErrInvalid
	}
	if err := t.inDir(to); err != nil {
		return err
	}
	if _, old, err := t.find(to); err == nil {
		switch {
		case n.mode.IsDir() && !old.mode.IsDir():
			return syscall.ENOTDIR
		case !n.mode.IsDir() && old.mode.IsDir():
			return syscall.EISDIR
		}
		if err := t.remove(to); err != nil {
			return err
		}
	}
	for _, name := range append(t.below(from), from) {
		id := bytes.Clone(t.names.Get([]byte(name)))
		if err := t.names.Delete([]byte(name)); err != nil {
			return err
		}
		if err := t.names.Put([]byte(to+strings.TrimPrefix(name, from)), id); err != nil {
			return err
		}
	}
	return nil
}

// below returns all names below a directory.
func (t tables) below(dir string) (all []string) {
	start := startOf(dir)
	c := t.names.Cursor()
	for key, _ := c.Seek([]byte(start)); key != nil && bytes.HasPrefix(key, []byte(start)); key, _ = c.Next() {
		all = append(all, string(key))
	}
	return all
}

// any reports whether a directory has any name below it.
func (t tables) any(dir string) bool {
	start := []byte(startOf(dir))
	key, _ := t.names.Cursor().Seek(start)
	return key != nil && bytes.HasPrefix(key, start)
}

// children returns the names in a directory, sorted. The names below each child are skipped.
func (t tables) children(dir string) (all []string) {
	start := startOf(dir)
	c := t.names.Cursor()
	for key, _ := c.Seek([]byte(start)); key != nil && bytes.HasPrefix(key, []byte(start)); {
		child, _, deeper := strings.Cut(strings.TrimPrefix(string(key), start), "/")
		if deeper {
			key, _ = c.Seek([]byte(start + child + string(rune('/'+1))))
			continue
		}
		all = append(all, child)
		key, _ = c.Next()
	}
	return all
}

// startOf returns the prefix of each name below a directory.
func startOf(dir string) string {
	if dir == "" {
		return ""
	}
	return dir + "/"
}

// parentOf returns the directory of a name.
func parentOf(name string) string { return clean(path.Dir(name)) }

// clean returns a name in the form of the tables.
func clean(name string) string {
	return strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/")
}
