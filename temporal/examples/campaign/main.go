// Campaign is both a worker and a client: it runs a pipeline on every directory in a directory, with a Temporal server.
//
//	temporal server start-dev
//	go run ./examples/campaign -dir TREES pipeline.json
//
// Start it on more machines that have the same directories, with -worker, to share the work. Kill any of them: the
// others continue, and each tree is changed once. With -store, a target whose worker was killed resumes. Give all
// machines the same -key: `head -c 32 /dev/urandom > KEY` makes one.
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

	"github.com/spf13/afero"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/rundir"
	millracetemporal "github.com/millrace-go/millrace/temporal"
)

func main() {
	address := flag.String("address", client.DefaultHostPort, "the `address` of the server")
	dir := flag.String("dir", "", "the `directory` whose directories are the trees")
	blobs := flag.String("blobs", "", "a `directory` that clients and workers share (default: .campaigns in -dir)")
	id := flag.String("campaign", "", "the `id` of the campaign (default: the name of the pipeline)")
	keep := flag.String("store", "",
		"a `directory` for durable runs, which workers may share (default: targets of killed workers begin anew)")
	key := flag.String("key", "",
		"a `file` with 16 bytes or more, the same on all machines (default: the key of the user, for one machine)")
	gate := flag.Bool("gate", false, "show what would be changed, and ask")
	only := flag.Bool("worker", false, "only work for campaigns that others begin")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *blobs == "" {
		*blobs = filepath.Join(*dir, ".campaigns")
	}
	err := run(ctx, *address, *dir, *blobs, *keep, *key, *id, flag.Arg(0), *gate, *only)
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address, dir, blobDir, keep, key, id, file string, gate, only bool) error {
	if dir == "" || file == "" && !only {
		return errors.New("give -dir, and a pipeline")
	}
	conn, err := client.DialContext(ctx, client.Options{HostPort: address})
	if err != nil {
		return err
	}
	defer conn.Close()
	blobs := millracetemporal.DirBlobs{FS: afero.NewOsFs(), Dir: blobDir}
	works := fleet.Worker{Trees: fleet.Dirs{Within: dir}}
	if key != "" {
		if works.Executor.State.Key, err = os.ReadFile(key); err != nil {
			return err
		}
	}
	if keep != "" {
		if works.Store, err = storeIn(keep, works); err != nil {
			return err
		}
	}
	w := worker.New(conn, millracetemporal.DefaultTaskQueue, millracetemporal.WorkerOptions(8, 0))
	err = millracetemporal.Register(w, millracetemporal.Worker{Fleet: works, Blobs: blobs})
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		return err
	}
	defer w.Stop()
	if only {
		<-ctx.Done()
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	p, err := millrace.Decode(data)
	if err != nil {
		return err
	}
	if id == "" {
		id = p.Name()
	}
	targets, err := trees(dir)
	if err != nil {
		return err
	}
	c := millracetemporal.Client{Temporal: conn, Blobs: blobs, Gate: gate}
	campaign := fleet.Campaign{ID: id, Pipeline: p}
	if gate {
		return approve(ctx, c, campaign, targets)
	}
	sum, err := fleet.Fleet{Scheduler: c}.Run(ctx, campaign, fleet.Targets(targets...), nil)
	for _, o := range sum.Failures {
		fmt.Printf("%s: %s: %s\n", o.Target.ID, o.Code, o.Message)
	}
	fmt.Println(sum)
	return err
}

// storeIn returns the store in a directory, which lasts as long as the process.
func storeIn(dir string, w fleet.Worker) (fleet.Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	store, err := rundir.Open(root, "runs", rundir.Options{Key: w.Executor.State.Key})
	if err != nil {
		return nil, err
	}
	return store.Manage(rundir.Host{Trees: w.Trees})
}

// trees returns the directories in a directory, except for hidden ones.
func trees(dir string) ([]fleet.Target, error) {
	entries, err := os.ReadDir(dir)
	var targets []fleet.Target
	for _, e := range entries {
		if e.IsDir() && e.Name()[0] != '.' {
			targets = append(targets, fleet.Target{ID: e.Name(), Root: e.Name()})
		}
	}
	return targets, err
}

// approve shows the plans, asks a question, and continues with exactly these plans.
func approve(ctx context.Context, c millracetemporal.Client, campaign fleet.Campaign, targets []fleet.Target) error {
	if err := c.Start(ctx, campaign, fleet.Targets(targets...)); err != nil {
		return err
	}
	p, err := c.Held(ctx, campaign.ID)
	if err != nil {
		return err
	}
	fmt.Printf("%d of %d trees would be changed: %d files, %d edits. Go on? [y/N] ", p.Sum.Success, p.Targets,
		p.Sum.Files,
		p.Sum.Edits)
	var answer string
	if _, err := fmt.Scanln(&answer); err != nil || answer != "y" {
		return c.Stop(ctx, campaign.ID)
	}
	if _, err := c.Play(ctx, campaign.ID, p.PlanDigest); err != nil {
		return err
	}
	p, err = c.Wait(ctx, campaign.ID)
	fmt.Printf("%d changed, %d failed, %d skipped\n", p.Sum.Success, p.Sum.Failed, p.Sum.Skipped)
	return err
}
