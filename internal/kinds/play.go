package kinds

import "github.com/millrace-go/millrace/wording"

// The kinds of advice at the end of the reason of a held run. The engine plays or cancels a run.
const (
	// PlayStep: : play to run it.
	PlayStep wording.Kind = "play_step"
	// PlayAgain: : play to run it again.
	PlayAgain wording.Kind = "play_again"
	// PlayCommit: : play to commit, or cancel.
	PlayCommit wording.Kind = "play_commit"
	// PlayForce: : play with force, or cancel.
	PlayForce wording.Kind = "play_force"
	// PlayOther: : look at it again, and play or cancel. The change is not the change that was allowed.
	PlayOther wording.Kind = "play_other"
)

var plays = map[wording.Kind]string{
	PlayStep:   ": play to run it",
	PlayAgain:  ": play to run it again",
	PlayCommit: ": play to commit, or cancel",
	PlayForce:  ": play with force, or cancel",
	PlayOther:  ": look at it again, and play or cancel",
}

// Play returns the advice of a kind.
func Play(kind wording.Kind) wording.Part { return wording.Part{Kind: kind, Text: plays[kind]} }

// Asked splits the message of a held run into the reason and the kind of the advice after it. The kind is "" for a
// message without advice.
func Asked(err error) (why string, advice wording.Kind) {
	why = wording.Of(err, func(p wording.Part) string {
		if plays[p.Kind] == "" {
			return p.Text
		}
		advice = p.Kind
		return ""
	})
	return why, advice
}
