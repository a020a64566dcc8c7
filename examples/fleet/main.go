// Fleet makes the same change in several trees, four at a time. A tree that cannot be changed does not stop the others.
// After it is repaired, the campaign is run again: it changes that tree, and leaves the others alone.
//
//	go run ./examples/fleet                                    small trees in a temporary directory
//	go run ./examples/fleet -from 2025 -to 2026 DIR...         LICENSE of these directories
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fleet"
)

func main() {
	from := flag.String("from", "2025", "the `year` that is written there")
	to := flag.String("to", "2026", "the `year` that is to be written")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c := campaign(*from, *to)
	var err error
	if flag.NArg() > 0 {
		err = run(ctx, c, flag.Args())
	} else {
		err = show(ctx, c)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// campaign returns a campaign named after its work, so that the next campaign of the same name resumes where the last
// campaign ended.
func campaign(from, to string) fleet.Campaign {
	return fleet.Campaign{ID: "year-" + from + "-" + to, Pipeline: millrace.New("year").
		Step("year",
			actions.Edit{Files: []string{"LICENSE"}, OldText: "Copyright " + from, NewText: "Copyright " +
				to}).MustBuild()}
}

// run prints each target that fails, and at the end a summary of all targets.
func run(ctx context.Context, c fleet.Campaign, dirs []string) error {
	f := fleet.Fleet{
		Scheduler: fleet.Local{Worker: fleet.Worker{Trees: fleet.Dirs{}}, Parallel: 4},
		StopAfter: 10, // after ten failures the campaign itself is wrong
	}
	sum, err := f.Run(ctx, c, fleet.Paths(dirs...), func(o fleet.Outcome) error {
		if o.Status == fleet.Failed {
			fmt.Printf("%s: %s (%s)\n", filepath.Base(o.Target.ID), o.Status, o.Code)
		}
		return nil
	})
	fmt.Println(sum)
	return err
}

// show runs the campaign twice on temporary trees.
func show(ctx context.Context, c fleet.Campaign) (err error) {
	top, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	var dirs []string
	for _, name := range []string{"api", "cli", "docs", "site", "web"} {
		dir := filepath.Join(top, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		dirs = append(dirs, dir)
		if name == "docs" {
			continue // this tree has no licence yet
		}
		if err := licence(dir); err != nil {
			return err
		}
	}
	if err := run(ctx, c, dirs); err != nil {
		return err
	}
	if err := licence(dirs[2]); err != nil {
		return err
	}
	return run(ctx, c, dirs)
}

func licence(dir string) error {
	return os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("Copyright 2025 the authors\n"), 0o644)
}
