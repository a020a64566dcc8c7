package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Report has all results of a run.
type Report struct {
	Host    Host          `json:"host"`
	Corpus  Digest        `json:"corpus"`
	Runs    int           `json:"runs"`
	Warm    int           `json:"warm_up_runs"`
	Took    time.Duration `json:"took_ns"`
	Entries []Entry       `json:"jobs"`
}

// failed reports whether something went wrong in a job. A goal that was not reached is not a failure.
func (r Report) failed() bool {
	return slices.ContainsFunc(r.Entries, func(e Entry) bool { return e.Failed != "" })
}

// write stores the report as JSON.
func (r Report) write(file string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// markdown prints the tables for docs/performance.md.
func (r Report) markdown(w io.Writer) {
	h := r.Host
	fmt.Fprintf(w,
		"Measured on %s with %s, %d processors (%s), %s, %s, millrace at %s. %d rounds after %d to warm up; locale %s.\n",
		h.Date, h.Go, h.Cores, h.CPU, h.Kernel, h.FileSystem, h.Commit, r.Runs, r.Warm, h.Locale)
	fmt.Fprintf(w, "The corpus has %s files and %s MB.", thousands(r.Corpus.Files),
		thousands(int(r.Corpus.Bytes/1_000_000)))
	for _, name := range []string{"rg", "sed", "xargs"} {
		if version, ok := h.Tools[name]; ok {
			fmt.Fprintf(w, " %s: %s.", name, strings.TrimSpace(strings.Split(version, " (/")[0]))
		}
	}
	fmt.Fprintf(w, "\n\n")
	r.markdownVersus(w)
	fmt.Fprintln(w)
	r.markdownFigures(w)
	for _, e := range r.Entries {
		switch {
		case e.Skipped != "":
			fmt.Fprintf(w, "\nSkipped: %s: %s.\n", e.Job, e.Skipped)
		case e.Failed != "":
			fmt.Fprintf(w, "\n**Failed: %s: %s**\n", e.Job, e.Failed)
		}
	}
}

func (r Report) markdownVersus(w io.Writer) {
	fmt.Fprintln(w,
		"| job | against | both found | millrace: wall, cpu, memory | other: wall, cpu, memory | wall ratio | cpu ratio | goal | met |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, e := range r.Entries {
		for _, v := range e.Versus {
			goal := fmt.Sprintf("≤ %.2f", v.Goal)
			if v.GoalRSS > 0 {
				goal += fmt.Sprintf(", ≤ %.0f MiB", float64(v.GoalRSS)/mebibyte)
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", v.Job, code(v.Against), v.Verified,
				usage(v.Millrace), usage(v.Other), ratio(v.Wall), ratio(v.CPU), goal, yes(v.Met()))
		}
	}
}

func (r Report) markdownFigures(w io.Writer) {
	fmt.Fprintln(w, "| job | what | measured | goal | met | |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for _, e := range r.Entries {
		for _, f := range e.Figures {
			goal := "–"
			if f.Goal > 0 {
				goal = fmt.Sprintf("≤ %g", f.Goal)
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", f.Job, f.What, figure(f), goal, yes(f.Met()), f.Note)
		}
	}
}

// code is a command as a cell of a table.
func code(s string) string { return "`" + strings.ReplaceAll(s, "|", `\|`) + "`" }

func usage(u Usage) string {
	return fmt.Sprintf("%s, %s, %.0f MiB", seconds(u.Wall), seconds(u.CPU), float64(u.RSS)/mebibyte)
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func ratio(s Spread) string { return fmt.Sprintf("**%.2f** (%.2f–%.2f)", s.Median, s.Min, s.Max) }

func figure(f Figure) string {
	switch f.Unit {
	case "exponent":
		return fmt.Sprintf("exponent %.2f", f.Value)
	case "MiB":
		return fmt.Sprintf("%.0f MiB", f.Value)
	}
	return fmt.Sprintf("%.2f %s", f.Value, f.Unit)
}

func yes(met bool) string {
	if met {
		return "yes"
	}
	return "no"
}

// text prints a short line about a finished job, as progress.
func (e Entry) text(w io.Writer) {
	switch {
	case e.Skipped != "":
		fmt.Fprintf(w, "%-24s skipped: %s\n", e.Job, e.Skipped)
	case e.Wrong:
		fmt.Fprintf(w, "%-24s WRONG: %s\n", e.Job, e.Failed)
	case e.Failed != "":
		fmt.Fprintf(w, "%-24s FAILED: %s\n", e.Job, e.Failed)
	}
	for _, v := range e.Versus {
		fmt.Fprintf(w,
			"%-24s wall %.2f (%.2f-%.2f) cpu %.2f (%.2f-%.2f) goal %.2f met: %s | %s | millrace %s | other %s\n",
			v.Job,
			v.Wall.Median, v.Wall.Min, v.Wall.Max, v.CPU.Median, v.CPU.Min, v.CPU.Max, v.Goal, yes(v.Met()), v.Verified,
			usage(v.Millrace), usage(v.Other))
	}
	for _, f := range e.Figures {
		fmt.Fprintf(w, "%-24s %s goal %g met: %s | %s | %s\n", f.Job, figure(f), f.Goal, yes(f.Met()), f.What, f.Note)
	}
}
