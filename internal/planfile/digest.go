package planfile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/stage"
)

// Digest returns a SHA-256, as 64 hexadecimal digits, of what a commit of the changes does. It reads the files whose
// new hash nobody has needed so far.
func Digest(changes []fsutil.Change, noBackup bool) (string, error) {
	sum := sha256.New()
	add(sum, "millrace plan 1", fmt.Sprint(noBackup))
	for _, c := range changes {
		c, err := stage.Summed(c)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", c.Path, err)
		}
		add(sum, string(c.Kind), c.Path, c.From, fmt.Sprint(c.Permanent))
		for _, s := range []change.State{c.Old, c.New, c.Replaced} {
			add(sum, s.Kind.String(), s.Hash.String(), fmt.Sprintf("%o", uint32(s.Mode)), s.Target)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// add adds texts to a sum, each with its length, so that none can be taken for a part of another.
func add(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		sum.Write([]byte(text))
	}
}
