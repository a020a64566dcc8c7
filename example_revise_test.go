package millrace_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// spelling plans the spelling of one word in two files.
func spelling() *millrace.Plan {
	fsys := suite.Tree("a.txt", "I recieve\nyou know\nthey recieve\n", "b.txt", "we recieve\n")
	p := millrace.New("spelling").
		Step("fix", actions.Edit{Files: []string{"a.txt", "b.txt"}, OldText: "recieve", NewText: "receive"}).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(context.Background(), fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	return plan
}

// One file of a large plan.
func ExamplePlan_WriteDiff() {
	if err := spelling().WriteDiff(os.Stdout, "b.txt"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// diff --git a/b.txt b/b.txt
	// --- a/b.txt
	// +++ b/b.txt
	// @@ -1 +1 @@
	// -we recieve
	// +we receive
}

// Lines have their numbers, and the bytes that really changed.
func ExampleHunk_Lines() {
	files, err := spelling().Files()
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range files[1].Hunks[0].Lines() {
		fmt.Printf("%c%s\n", l.Op, l.Text)
		for _, m := range l.Marks {
			fmt.Printf(" %s%s\n", strings.Repeat(" ", m[0]), strings.Repeat("^", m[1]-m[0]))
		}
	}
	// Output:
	// -we recieve
	//        ^^
	// +we receive
	//        ^^
}

// Two changes that are close together are one hunk, but can be decided separately.
func ExampleHunk_Split() {
	files, err := spelling().Files()
	if err != nil {
		log.Fatal(err)
	}
	for _, part := range files[0].Hunks[0].Split() {
		fmt.Print(part)
	}
	// Output:
	// @@ -1,2 +1,2 @@
	// -I recieve
	// +I receive
	//  you know
	// @@ -2,2 +2,2 @@
	//  you know
	// -they recieve
	// +they receive
}

// A person rejects one change and writes another text for the next.
func ExamplePlan_Revise() {
	plan := spelling()
	files, err := plan.Files()
	if err != nil {
		log.Fatal(err)
	}
	parts := files[0].Hunks[0].Split()
	text := "you know\nthey are sent\n"
	plan, err = plan.Revise("a.txt", millrace.Part{Hunk: parts[0]}, millrace.Part{Hunk: parts[1], Text: &text})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(plan.Diff())
	// Output:
	// diff --git a/a.txt b/a.txt
	// --- a/a.txt
	// +++ b/a.txt
	// @@ -1,3 +1,3 @@
	//  I recieve
	//  you know
	// -they recieve
	// +they are sent
	// diff --git a/b.txt b/b.txt
	// --- a/b.txt
	// +++ b/b.txt
	// @@ -1 +1 @@
	// -we recieve
	// +we receive
}

// A rejected hunk is rejected again in a later plan, for a tree that has changed elsewhere: the text of a hunk has no
// line numbers.
func ExamplePlan_Revise_again() {
	ctx := context.Background()
	p := millrace.New("spelling").
		Step("fix", actions.Edit{Files: []string{"a.txt"}, OldText: "recieve", NewText: "receive"}).
		MustBuild()
	rejected := map[string]bool{"a.txt: you know\n-they recieve\n+they receive\n": true} // path and Text

	fsys := suite.Tree("a.txt", "a new line\nI recieve\nyou know\nthey recieve\n")
	plan, err := millrace.Executor{}.Plan(ctx, fsys, p)
	if err != nil {
		log.Fatal(err)
	}
	files, err := plan.Files()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		var again []millrace.Part
		for _, hunk := range f.Hunks {
			for _, part := range hunk.Split() {
				if rejected[f.Path+":"+part.Text] {
					again = append(again, millrace.Part{Hunk: part})
				}
			}
		}
		if plan, err = plan.Revise(f.Path, again...); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Print(plan.Diff())
	// Output:
	// diff --git a/a.txt b/a.txt
	// --- a/a.txt
	// +++ b/a.txt
	// @@ -1,4 +1,4 @@
	//  a new line
	// -I recieve
	// +I receive
	//  you know
	//  they recieve
}
