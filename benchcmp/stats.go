package main

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Usage is the resource usage of a process and of the processes that it waited for.
type Usage struct {
	Wall time.Duration `json:"wall_ns"`
	CPU  time.Duration `json:"cpu_ns"`
	RSS  int64         `json:"rss_bytes"` // the peak memory of the largest process
	Exit int           `json:"exit"`
}

// Spread is the median, the minimum and the maximum of numbers.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// median returns the middle value, the mean of the two middle values for an even number, and 0 without values.
func median[T cmp.Ordered](values []T, mean func(a, b T) T) T {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	switch {
	case n == 0:
		var zero T
		return zero
	case n%2 == 1:
		return sorted[n/2]
	default:
		return mean(sorted[n/2-1], sorted[n/2])
	}
}

func meanFloat(a, b float64) float64                { return (a + b) / 2 }
func meanDuration(a, b time.Duration) time.Duration { return (a + b) / 2 }

// spread returns the Spread of values.
func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	return Spread{Median: median(values, meanFloat), Min: slices.Min(values), Max: slices.Max(values)}
}

// ratios divides each of a by its partner in b.
func ratios(a, b []Usage, of func(Usage) time.Duration) Spread {
	var all []float64
	for i := range a {
		if of(b[i]) > 0 {
			all = append(all, float64(of(a[i]))/float64(of(b[i])))
		}
	}
	return spread(all)
}

func wall(u Usage) time.Duration { return u.Wall }
func cpu(u Usage) time.Duration  { return u.CPU }

// middle returns the medians of the times, and the greatest memory.
func middle(all []Usage) Usage {
	var walls, cpus []time.Duration
	var m Usage
	for _, u := range all {
		walls = append(walls, u.Wall)
		cpus = append(cpus, u.CPU)
		m.RSS = max(m.RSS, u.RSS)
	}
	m.Wall, m.CPU = median(walls, meanDuration), median(cpus, meanDuration)
	return m
}

// exponent fits y = c * x^e by least squares of the logarithms and returns e.
func exponent(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(x))
	for i := range x {
		lx, ly := math.Log(x[i]), math.Log(y[i])
		sx, sy, sxx, sxy = sx+lx, sy+ly, sxx+lx*lx, sxy+lx*ly
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
