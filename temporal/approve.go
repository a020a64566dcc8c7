package millracetemporal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/millrace-go/millrace/fleet"
)

// approve computes one digest from the digests of all plans, in the order of the targets, and stores a book of them. A
// target whose plan has failed has the digest "".
func (a activities) approve(ctx context.Context, head string, count, page int) (approval, error) {
	digests := make([]string, count)
	seen := make([]bool, count)
	for r, err := range outcomes(ctx, a.Blobs, head) {
		if err != nil {
			return approval{}, err
		}
		if i := r.Outcome.Index; i >= 0 && i < count && !seen[i] {
			digests[i], seen[i] = r.Plan, true
			if r.Outcome.Status == fleet.Failed {
				digests[i] = ""
			}
		}
	}
	hash := sha256.New()
	w := bookWriter[string]{blobs: a.Blobs, book: book{Page: page}}
	for i, digest := range digests {
		fmt.Fprintf(hash, "%d %s\n", i, digest)
		if err := w.add(ctx, digest); err != nil {
			return approval{}, err
		}
	}
	ref, err := w.close(ctx)
	return approval{Digest: hex.EncodeToString(hash.Sum(nil)), Plans: ref}, err
}
