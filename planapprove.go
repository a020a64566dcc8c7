package millrace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/millrace-go/millrace/change"
)

// WithForce returns the plan with another answer to whether it may pass what asks for force: the limit on files, the levels of
// risk, read-only files. It is judged anew. So a person can approve what was shown, without it being planned again. The host's
// ceiling still holds, and so do its paths and its other limits. The two plans are committed separately; the second commit of
// the same change is a conflict.
func (p *Plan) WithForce(force bool) *Plan {
	q := p.copied()
	q.options.Force = force
	if !q.abandoned && q.mutates {
		q.judge()
	}
	return q
}

// Digest returns a SHA-256, as 64 hexadecimal digits, of what Commit would do: kind and path of each change, where it comes from,
// what it replaces, hash, mode and target before and after, whether what is deleted is kept, and whether there is going to be
// a backup. It is the same for a plan and for what [Executor.OpenPlan] makes of its JSON, and does not depend on who planned
// it, nor on force: whoever has approved a digest has approved these bytes.
//
// It reads the files whose new hash nobody has needed so far; the error is fsutil.ErrDrift if one of them has changed. A plan
// that cannot be committed has no digest.
func (p *Plan) Digest() (string, error) {
	if p.abandoned {
		return "", fmt.Errorf("a plan that cannot be committed has no digest: %w", p.failed)
	}
	sum := sha256.New()
	add(sum, "millrace plan 1", fmt.Sprint(p.options.NoBackup))
	for _, c := range p.changes {
		c, err := c.Summed()
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
