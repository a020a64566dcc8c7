// Package webtest visits the pages of package web in tests, like a browser without scripts.
package webtest

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Visitor is a browser without scripts. It is not safe for concurrent use.
type Visitor struct {
	// Client stores the cookies.
	Client *http.Client
	// Status, Header and Page are the last response, from the address At.
	Status int
	Header http.Header
	Page   string
	At     *url.URL
	// Word is typed if a page asks for a word.
	Word string
}

// Open opens the address that the program has printed.
func Open(address string) (*Visitor, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	v := &Visitor{Client: &http.Client{Jar: jar}}
	return v, v.Get(address)
}

// Get loads a page, whose address may be relative to the current page.
func (v *Visitor) Get(address string) error {
	to, err := url.Parse(address)
	if err != nil {
		return err
	}
	if v.At != nil {
		to = v.At.ResolveReference(to)
	}
	return v.keep(v.Client.Get(to.String()))
}

func (v *Visitor) keep(res *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	v.Status, v.Header, v.Page, v.At = res.StatusCode, res.Header, string(text), res.Request.URL
	return err
}

// Heading returns the text of the heading of the page.
func (v *Visitor) Heading() string {
	_, rest, _ := strings.Cut(v.Page, "<h1>")
	text, _, _ := strings.Cut(rest, "</h1>")
	return html.UnescapeString(text)
}

var (
	formAction = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	fields     = regexp.MustCompile(`<input type="(hidden|checkbox)" name="([^"]*)" value="([^"]*)"( checked="checked")?`)
)

// Form returns the address of the first form of the page, and its fields with their present values.
func (v *Visitor) Form() (action string, values url.Values, err error) {
	found := formAction.FindStringSubmatch(v.Page)
	if found == nil {
		return "", nil, fmt.Errorf("the page has no form:\n%s", v.Page)
	}
	_, text, _ := strings.Cut(v.Page, found[0])
	text, _, _ = strings.Cut(text, "</form>")
	values = make(url.Values)
	for _, f := range fields.FindAllStringSubmatch(text, -1) {
		if f[1] == "hidden" || f[4] != "" {
			values.Add(f[2], f[3])
		}
	}
	return html.UnescapeString(found[1]), values, nil
}

// Press presses a button of the form, after unticking some boxes.
func (v *Visitor) Press(button string, leave ...string) error {
	action, values, err := v.Form()
	if err != nil {
		return err
	}
	if !strings.Contains(v.Page, ` name="do" value="`+html.EscapeString(button)+`"`) {
		return fmt.Errorf("the page has no button %s:\n%s", button, v.Page)
	}
	for _, box := range leave {
		if !slices.Contains(values["take"], box) {
			return fmt.Errorf("the page has no ticked box %s", box)
		}
	}
	values["take"] = slices.DeleteFunc(values["take"], func(box string) bool { return slices.Contains(leave, box) })
	values.Set("do", button)
	values.Set("word", v.Word)
	return v.Post(action, values)
}

// Post sends a form.
func (v *Visitor) Post(action string, values url.Values) error {
	to, err := v.At.Parse(action)
	if err != nil {
		return err
	}
	return v.keep(v.Client.PostForm(to.String(), values))
}

// PostTraced is Post with a trace of the request, which shows when the server starts to read the form.
func (v *Visitor) PostTraced(trace *httptrace.ClientTrace, action string, values url.Values) error {
	to, err := v.At.Parse(action)
	if err != nil {
		return err
	}
	ctx := httptrace.WithClientTrace(context.Background(), trace)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(values.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Expect", "100-continue")
	return v.keep(v.Client.Do(r))
}
