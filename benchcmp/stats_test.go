package main

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	tests := []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{4, 1}, Spread{2.5, 1, 4}},
		{[]float64{9, 1, 2}, Spread{2, 1, 9}},
		{[]float64{9, 1, 2, 4}, Spread{3, 1, 9}},
	}
	for _, tt := range tests {
		if got := spread(tt.values); got != tt.want {
			t.Errorf("spread(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
}

// Ratios are of pairs, not of medians: here those are 2 and 4.
func TestRatios(t *testing.T) {
	t.Parallel()
	a := []Usage{{Wall: 1, CPU: 10}, {Wall: 2, CPU: 20}, {Wall: 8, CPU: 30}}
	b := []Usage{{Wall: 4, CPU: 10}, {Wall: 2, CPU: 40}, {Wall: 4, CPU: 0}}
	if got, want := ratios(a, b, wall), (Spread{1, 0.25, 2}); got != want {
		t.Errorf("wall %v, want %v", got, want)
	}
	if got, want := ratios(a, b, cpu), (Spread{0.75, 0.5, 1}); got != want {
		t.Errorf("cpu %v, want %v", got, want)
	}
}

func TestMiddle(t *testing.T) {
	t.Parallel()
	got := middle([]Usage{{Wall: 3, CPU: 1, RSS: 5}, {Wall: 1, CPU: 2, RSS: 9}, {Wall: 2, CPU: 9, RSS: 7}})
	if diff := cmp.Diff(Usage{Wall: 2, CPU: 2, RSS: 9}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestExponent(t *testing.T) {
	t.Parallel()
	for _, e := range []float64{0, 0.5, 1, 1.05, 2} {
		var x, y []float64
		for _, n := range []float64{1_000, 10_000, 100_000} {
			x, y = append(x, n), append(y, 7*math.Pow(n, e))
		}
		if got := exponent(x, y); math.Abs(got-e) > 1e-9 {
			t.Errorf("exponent is %v, want %v", got, e)
		}
	}
	// The middle one is off by a factor of 10: the line through all three has the slope of the outer ones.
	if got := exponent([]float64{1, 10, 100}, []float64{1, 100, 100}); math.Abs(got-1) > 1e-9 {
		t.Errorf("exponent is %v, want 1", got)
	}
}

func TestMet(t *testing.T) {
	t.Parallel()
	at := func(x float64) Spread { return Spread{Median: x} }
	tests := []struct {
		v    Versus
		want bool
	}{
		{Versus{Wall: at(0.5), CPU: at(0.5), Goal: 0.5}, true},
		{Versus{Wall: at(0.51), CPU: at(0.5), Goal: 0.5}, false},
		{Versus{Wall: at(0.5), CPU: at(0.51), Goal: 0.5}, false},
		{Versus{Wall: at(0.5), CPU: at(0.5), Goal: 0.5, GoalRSS: 10, Millrace: Usage{RSS: 10}}, true},
		{Versus{Wall: at(0.5), CPU: at(0.5), Goal: 0.5, GoalRSS: 10, Millrace: Usage{RSS: 11}}, false},
	}
	for i, tt := range tests {
		if got := tt.v.Met(); got != tt.want {
			t.Errorf("%d: met: %t", i, got)
		}
	}
	if !(Figure{Value: 1, Goal: 1}).Met() || (Figure{Value: 1.1, Goal: 1}).Met() || !(Figure{Value: 9}).Met() {
		t.Error("goals of figures are not judged")
	}
}

func TestGrown(t *testing.T) {
	t.Parallel()
	o := grown("x", []float64{10, 100}, []Usage{{CPU: time.Second}, {CPU: 100 * time.Second}})
	want := Outcome{Figures: []Figure{{What: "x", Value: 2, Unit: "exponent", Goal: growthGoal, Note: "cpu 1 s, 100 s; piece by piece 2.00"}}}
	o.Figures[0].Value = math.Round(1e9*o.Figures[0].Value) / 1e9
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
