// Endpoint accepts pipelines over HTTP from a model or another service. It repairs small mistakes in them, plans them
// under the host's policy, and commits. The answer has the result and every warning, or the problems that the sender
// must fix.
//
//	go run ./examples/endpoint -dir DIR
//	curl -d '{"name": "n", "steps": [{"id": "s", "action": "search", "params": {"pattern": "x"}}]}' localhost:8080
package main

import (
	"flag"
	"log"
	"net/http"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "the `address` to listen on")
	dir := flag.String("dir", ".", "the `directory` to work on")
	flag.Parse()
	tree, err := fsutil.OpenRoot(*dir)
	if err != nil {
		log.Fatal(err)
	}
	h := handler{tree: tree,
		host: millrace.Executor{Ceiling: risk.Medium, DeniedPaths: []string{".env"}, RequireMatches: true}}
	server := http.Server{Addr: *addr, Handler: h, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
