package flow_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/flow"
)

// said makes an outcome from the letters of a state: s, +, -, r, x, i, and the number of the matching retry.
func said(t *testing.T, word string) flow.Outcome {
	t.Helper()
	o := map[byte]flow.Outcome{
		's': {Status: flow.Skipped}, '+': {Status: flow.Succeeded}, '-': {Status: flow.Failed},
		'r': {Status: flow.Failed, Retryable: true}, 'x': {Status: flow.Stopped}, 'i': {Status: flow.Interrupted},
	}[word[0]]
	if len(word) > 1 {
		o.Retry = int(word[1] - '0')
	}
	return o
}

func machine(t *testing.T, steps []flow.Step, maxSteps int) *flow.Machine {
	t.Helper()
	m, err := flow.New(steps, maxSteps)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// play applies the words one after the other and returns the last move.
func play(t *testing.T, m *flow.Machine, words string) (move flow.Move) {
	t.Helper()
	for word := range strings.FieldsSeq(words) {
		if _, ok := m.At(); !ok {
			t.Fatalf("%q of %q comes after the end", word, words)
		}
		move = m.Done(said(t, word))
	}
	return move
}

// The rows of the table in the package's comment, each with its effect on the stage, the next step, and the visit.
func TestTable(t *testing.T) {
	t.Parallel()
	back := []flow.Retry{{To: 1}}
	restart := []flow.Retry{{To: 1, Restart: true}}
	for _, test := range []struct {
		name     string
		step     flow.Step // number 2 of 5; the others are zero, except for those in first
		first    []flow.Step
		maxSteps int
		words    string
		want     flow.Move
		status   flow.Status // of step 2 afterwards
		previous bool        // the previous visit has an error
	}{
		{name: "1 skipped", words: "+ + s", want: flow.Move{Row: 1, To: 3}, status: flow.Skipped},
		{name: "1 skipped never takes next or on_fail", step: flow.Step{Next: 4, OnFail: 4}, words: "+ + s", want: flow.Move{Row: 1, To: 3}, status: flow.Skipped},
		{name: "1 a skipped step has no way back", step: flow.Step{Retries: back}, words: "+ + s1", want: flow.Move{Row: 1, To: 3}, status: flow.Skipped},
		{
			name: "2 again", step: flow.Step{MaxRetries: 2, OnFail: 4}, words: "+ + r r",
			want: flow.Move{Row: 2, Stage: flow.Back, Savepoint: 2, To: 2, Again: true},
		},
		{
			name: "2 goes before 4", step: flow.Step{MaxRetries: 1, Retries: back}, words: "+ + r1",
			want: flow.Move{Row: 2, Stage: flow.Back, Savepoint: 2, To: 2, Again: true},
		},
		{name: "3 succeeded", step: flow.Step{OnFail: 4, Retries: back, MaxRetries: 3}, words: "+ + +", want: flow.Move{Row: 3, To: 3}, status: flow.Succeeded},
		{
			name: "3 next", step: flow.Step{Next: 4, OnFail: 3}, words: "+ + +",
			want: flow.Move{Row: 3, To: 4, By: flow.ByNext, Bypassed: []int{3}}, status: flow.Succeeded,
		},
		{name: "3 next is the next", step: flow.Step{Next: 3}, words: "+ + +", want: flow.Move{Row: 3, To: 3, By: flow.ByNext}, status: flow.Succeeded},
		{name: "3 after a retry", step: flow.Step{MaxRetries: 1}, words: "+ + r +", want: flow.Move{Row: 3, To: 3}, status: flow.Succeeded},
		{
			name: "4 after a success", step: flow.Step{Next: 4, Retries: back}, words: "+ + +1",
			want: flow.Move{Row: 4, To: 1, By: flow.ByRetry}, previous: true,
		},
		{
			name: "4 after a failure", step: flow.Step{OnFail: 4, Retries: back}, words: "+ + -1",
			want: flow.Move{Row: 4, Stage: flow.Back, Savepoint: 2, To: 1, By: flow.ByRetry, Failed: true, Handled: true}, previous: true,
		},
		{
			name: "4 after the last attempt", step: flow.Step{MaxRetries: 1, Retries: back}, words: "+ + r r1",
			want: flow.Move{Row: 4, Stage: flow.Back, Savepoint: 2, To: 1, By: flow.ByRetry, Failed: true, Handled: true}, previous: true,
		},
		{
			name: "4 the second of two", step: flow.Step{Retries: []flow.Retry{{To: 1}, {To: 0}}}, words: "+ + +2",
			want: flow.Move{Row: 4, To: 0, By: flow.ByRetry}, previous: true,
		},
		{
			name: "4 to itself", step: flow.Step{Retries: []flow.Retry{{To: 2}}}, words: "+ + +1 +1",
			want: flow.Move{Row: 4, To: 2, By: flow.ByRetry}, previous: true,
		},
		{
			name: "4 restart after a success", step: flow.Step{Retries: restart}, words: "+ + +1",
			want: flow.Move{Row: 4, Stage: flow.Restart, Savepoint: 1, To: 1, By: flow.ByRetry}, previous: true,
		},
		{
			name: "4 restart after a failure", step: flow.Step{Retries: restart}, words: "+ + -1",
			want: flow.Move{Row: 4, Stage: flow.Restart, Savepoint: 1, To: 1, By: flow.ByRetry, Failed: true, Handled: true}, previous: true,
		},
		{
			name: "4 restart goes to the first visit that counts", step: flow.Step{Retries: restart}, words: "+ + +1 + +1",
			want: flow.Move{Row: 4, Stage: flow.Restart, Savepoint: 3, To: 1, By: flow.ByRetry}, previous: true,
		},
		{
			name: "4 restart to what was bypassed", first: []flow.Step{{Next: 2}}, step: flow.Step{Retries: restart}, words: "+ +1",
			want: flow.Move{Row: 4, To: 1, By: flow.ByRetry}, previous: true,
		},
		{
			name: "4 skipped visits count", first: []flow.Step{{}, {MaxVisits: 2}}, step: flow.Step{Retries: back}, words: "+ s +1",
			want: flow.Move{Row: 4, To: 1, By: flow.ByRetry}, previous: true,
		},
		{
			name: "5 and 6", first: []flow.Step{{}, {MaxVisits: 2}}, step: flow.Step{OnFail: 4, Next: 3, Retries: back}, words: "+ + +1 + +1",
			want: flow.Move{
				Row: 6, Stage: flow.Back, Savepoint: 4, To: 4, By: flow.ByOnFail, Failed: true, Handled: true,
				Exhausted: &flow.Exhausted{Target: 1, Visits: 2}, Bypassed: []int{3},
			}, status: flow.Handled, previous: true,
		},
		{
			name: "5 and 7", first: []flow.Step{{}, {MaxVisits: 1}}, step: flow.Step{Awaited: true, Next: 4, Retries: []flow.Retry{{To: 0}, {To: 1}}}, words: "+ s +2",
			want: flow.Move{
				Row: 7, Stage: flow.Back, Savepoint: 2, To: 3, Failed: true, Handled: true, Exhausted: &flow.Exhausted{Retry: 1, Target: 1, Visits: 1},
			}, status: flow.Handled, previous: true,
		},
		{
			name: "5 and 8", step: flow.Step{Continue: true, MaxVisits: 1, Retries: []flow.Retry{{To: 2}}}, words: "+ + -1",
			want: flow.Move{
				Row: 8, Stage: flow.Back, Savepoint: 2, To: 3, Failed: true, Exhausted: &flow.Exhausted{Target: 2, Visits: 1},
			}, status: flow.Failed, previous: true,
		},
		{
			name: "5 and 9, four visits unless the step says", step: flow.Step{Retries: back}, words: "+ + +1 + +1 + +1 + +1",
			want:   flow.Move{Row: 9, Stage: flow.Discard, To: 5, Failed: true, Exhausted: &flow.Exhausted{Target: 1, Visits: 4}},
			status: flow.Failed, previous: true,
		},
		{
			name: "6 on_fail", step: flow.Step{OnFail: 4, Awaited: true, Continue: true}, words: "+ + -",
			want: flow.Move{Row: 6, Stage: flow.Back, Savepoint: 2, To: 4, By: flow.ByOnFail, Failed: true, Handled: true, Bypassed: []int{3}}, status: flow.Handled, previous: true,
		},
		{
			name: "6 after all attempts", step: flow.Step{OnFail: 3, MaxRetries: 1}, words: "+ + r r",
			want: flow.Move{Row: 6, Stage: flow.Back, Savepoint: 2, To: 3, By: flow.ByOnFail, Failed: true, Handled: true}, status: flow.Handled, previous: true,
		},
		{
			name: "6 a failure that cannot be retried", step: flow.Step{OnFail: 3, MaxRetries: 1}, words: "+ + -",
			want: flow.Move{Row: 6, Stage: flow.Back, Savepoint: 2, To: 3, By: flow.ByOnFail, Failed: true, Handled: true}, status: flow.Handled, previous: true,
		},
		{
			name: "7 awaited", step: flow.Step{Awaited: true, Continue: true, Next: 4}, words: "+ + -",
			want: flow.Move{Row: 7, Stage: flow.Back, Savepoint: 2, To: 3, Failed: true, Handled: true}, status: flow.Handled, previous: true,
		},
		{
			name: "8 goes on", step: flow.Step{Continue: true, Next: 4}, words: "+ + -",
			want: flow.Move{Row: 8, Stage: flow.Back, Savepoint: 2, To: 3, Failed: true}, status: flow.Failed, previous: true,
		},
		{
			name: "9 ends", step: flow.Step{Next: 4}, words: "+ + -",
			want: flow.Move{Row: 9, Stage: flow.Discard, To: 5, Failed: true}, status: flow.Failed, previous: true,
		},
		{
			name: "10 stopped before the first attempt", step: flow.Step{OnFail: 4, Awaited: true, Continue: true}, words: "+ + x",
			want: flow.Move{Row: 10, Stage: flow.Discard, To: 5},
		},
		{
			name: "10 stopped before the second attempt", step: flow.Step{OnFail: 4, Awaited: true, Continue: true, MaxRetries: 1}, words: "+ + r x",
			want: flow.Move{Row: 10, Stage: flow.Discard, To: 5, Failed: true}, status: flow.Failed, previous: true,
		},
		{
			name: "10 interrupted", step: flow.Step{OnFail: 4, Awaited: true, Continue: true, Retries: back}, words: "+ + i1",
			want: flow.Move{Row: 10, Stage: flow.Discard, To: 5, Failed: true}, status: flow.Failed, previous: true,
		},
		{
			name: "10 no attempts left", step: flow.Step{OnFail: 4}, maxSteps: 2, words: "+ + +",
			want: flow.Move{Row: 10, Stage: flow.Discard, To: 5},
		},
		{name: "10 a skip needs no attempt", maxSteps: 2, words: "+ + s", want: flow.Move{Row: 1, To: 3}, status: flow.Skipped},
		{
			name: "10 an outcome that cannot be", step: flow.Step{MaxRetries: 1}, words: "+ + r s",
			want: flow.Move{Row: 10, Stage: flow.Discard, To: 5, Failed: true}, status: flow.Failed, previous: true,
		},
		{
			name: "10 a way back that there is not", step: flow.Step{Retries: back}, words: "+ + +2",
			want: flow.Move{Row: 10, Stage: flow.Discard, To: 5},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			steps := make([]flow.Step, 5)
			copy(steps, test.first)
			steps[2] = test.step
			m := machine(t, steps, test.maxSteps)
			got := play(t, m, test.words)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the last move (-want +got):\n%s", diff)
			}
			if got := m.Status(2); got != test.status {
				t.Errorf("the step is '%v', want '%v'", got, test.status)
			}
			for _, i := range got.Bypassed {
				if s := m.Status(i); s != flow.Bypassed || m.Visits(i) != 0 {
					t.Errorf("step %d is '%v' after %d visits", i, s, m.Visits(i))
				}
			}
			if v, k, ok := m.Previous(); !ok || v.HasError() != test.previous || v != m.History()[k] {
				t.Errorf("the previous visit is %+v, %t", v, ok)
			}
			at, ok := m.At()
			if at.Step != got.To || ok != (got.To < 5) || m.Completed() {
				t.Errorf("it is at %+v, %t, after the move %+v", at, ok, got)
			}
			if ended := got.Row == 9 || got.Row == 10; ok == ended {
				t.Errorf("row %d: the run goes on: %t", got.Row, ok)
			}
		})
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]bool{"+ +": true, "+ s": true, "+ -": false, "x": false, "+ i": false} {
		m := machine(t, make([]flow.Step, 2), 0)
		play(t, m, words)
		if _, ok := m.At(); ok || m.Completed() != want {
			t.Errorf("%q: at the end %t, completed %t, want %t", words, !ok, m.Completed(), want)
		}
		before := m.State()
		if diff := cmp.Diff(flow.Move{Row: 11, To: 2}, m.Done(said(t, "-"))); diff != "" {
			t.Errorf("%q: a move at the end (-want +got):\n%s", words, diff)
		}
		if m.State() != before || m.Completed() != want {
			t.Errorf("%q: the end was left: %+v", words, m.State())
		}
	}
	if m := machine(t, nil, 0); !m.Completed() {
		t.Error("a machine without steps is not at the end")
	}
}

// A jump back clears the statuses of its target and of later steps, and nothing else.
func TestSweeps(t *testing.T) {
	t.Parallel()
	const nothing, skipped, bypassed, good, bad, handled = flow.NotReached, flow.Skipped, flow.Bypassed, flow.Succeeded, flow.Failed, flow.Handled
	m := machine(t, []flow.Step{
		{}, {}, {Next: 4, Continue: true}, {}, {Retries: []flow.Retry{{To: 1}, {To: 0}, {To: 2, Restart: true}}, Awaited: true}, {},
	}, 0)
	for _, test := range []struct {
		words    string
		want     [6]flow.Status
		previous int
	}{
		{words: "+ s +", want: [6]flow.Status{good, skipped, good, bypassed}, previous: 2},
		{words: "+1", want: [6]flow.Status{good}, previous: 4},
		{words: "+ -", want: [6]flow.Status{good, good, bad}, previous: 2},
		{words: "s -3", want: [6]flow.Status{good, good}, previous: 4},
		{words: "+ -2", want: [6]flow.Status{}, previous: 4},
		{words: "s s s s -", want: [6]flow.Status{skipped, skipped, skipped, skipped, handled, nothing}, previous: 4},
		{words: "-", want: [6]flow.Status{skipped, skipped, skipped, skipped, handled, bad}, previous: 5},
	} {
		play(t, m, test.words)
		var got [6]flow.Status
		for i := range got {
			got[i] = m.Status(i)
		}
		if got != test.want {
			t.Errorf("after %q the steps are %v, want %v", test.words, got, test.want)
		}
		if v, _, _ := m.Previous(); v.Step != test.previous {
			t.Errorf("after %q the previous visit is %+v, want step %d", test.words, v, test.previous)
		}
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	m := machine(t, []flow.Step{
		{MaxRetries: 1}, {}, {Next: 4, OnFail: 3}, {Continue: true, MaxRetries: 2}, {Retries: []flow.Retry{{To: 1, Restart: true}}}, {},
	}, 0)
	if v, k, ok := m.Previous(); ok {
		t.Errorf("a previous visit %+v, %d at the beginning", v, k)
	}
	play(t, m, "r + s + +1 + - r r")
	want := []flow.Visit{
		{Step: 0, Visit: 1, Attempts: 2, Status: flow.Succeeded, To: 1},
		{Step: 1, Visit: 1, Status: flow.Skipped, To: 2, Discarded: true},
		{Step: 2, Visit: 1, Attempts: 1, Status: flow.Succeeded, To: 4, By: flow.ByNext, Discarded: true},
		{Step: 4, Visit: 1, Attempts: 1, Status: flow.Succeeded, To: 1, By: flow.ByRetry, Discarded: true},
		{Step: 1, Visit: 2, Attempts: 1, Status: flow.Succeeded, To: 2},
		{Step: 2, Visit: 2, Attempts: 1, Status: flow.Handled, To: 3, By: flow.ByOnFail},
	}
	if diff := cmp.Diff(want, m.History()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if at, _ := m.At(); at != (flow.Position{Step: 3, Visit: 1, Attempt: 3, Savepoint: 6}) {
		t.Errorf("it is at %+v", at)
	}
	play(t, m, "x")
	for i := range want {
		want[i].Discarded = true
	}
	want = append(want, flow.Visit{Step: 3, Visit: 1, Attempts: 2, Status: flow.Failed, To: 6, Discarded: true})
	if diff := cmp.Diff(want, m.History()); diff != "" {
		t.Errorf("history after the end (-want +got):\n%s", diff)
	}
	if m.Attempts() != 9-1 {
		t.Errorf("%d attempts", m.Attempts())
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		steps    []flow.Step
		maxSteps int
		want     string
	}{
		{steps: nil, maxSteps: -1, want: "maxSteps must be 1 to 200, got -1"},
		{steps: nil, maxSteps: 201, want: "maxSteps must be 1 to 200, got 201"},
		{steps: []flow.Step{{}, {OnFail: 1}}, want: "step 1: OnFail must be the index of a later step, got 1"},
		{steps: []flow.Step{{}, {Next: 2}}, want: "step 1: Next must be the index of a later step, got 2"},
		{steps: []flow.Step{{Retries: []flow.Retry{{To: 0}, {To: 1}}}, {}}, want: "step 0: a retry must lead to this step or an earlier one, got 1"},
		{steps: []flow.Step{{Retries: []flow.Retry{{To: -1}}}}, want: "step 0: a retry must lead to this step or an earlier one, got -1"},
		{steps: []flow.Step{{Retries: make([]flow.Retry, 21)}}, want: "step 0: there can be 20 retries at most, got 21"},
		{steps: []flow.Step{{MaxRetries: -1}}, want: "step 0: MaxRetries cannot be negative, got -1"},
		{steps: []flow.Step{{MaxVisits: -1}}, want: "step 0: MaxVisits cannot be negative, got -1"},
	} {
		if _, err := flow.New(test.steps, test.maxSteps); err == nil || err.Error() != test.want {
			t.Errorf("New(%+v, %d) = %v, want %s", test.steps, test.maxSteps, err, test.want)
		}
	}
	steps := []flow.Step{{OnFail: -1, Next: -1}, {Retries: []flow.Retry{{}}}}
	m := machine(t, steps, 1)
	steps[0].Next, steps[1].Retries[0].To = 99, 99
	if move := play(t, m, "s +1"); move.To != 0 || move.Row != 4 {
		t.Errorf("the machine has changed with the steps of its caller: %+v", move)
	}
}
