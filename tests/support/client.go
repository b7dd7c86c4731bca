// client - a client of cordon serve with numbers of 64 bits, as in Go, Rust and Java.
// SPDX-License-Identifier: MIT
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

type step struct {
	StepID  int64 `json:"step_id"`
	BeganUs int64 `json:"began_us"`
	EndedUs int64 `json:"ended_us"`
}

type message struct {
	Type      string          `json:"type"`
	RequestID json.RawMessage `json:"request_id"`
	Status    string          `json:"status"`
	Payload   json.RawMessage `json:"payload"`
}

var tests int
var failed bool

func ok(good bool, name string, words ...any) {
	tests++
	if good {
		fmt.Printf("ok %d - %s\n", tests, name)
		return
	}
	failed = true
	fmt.Printf("not ok %d - %s\n# %v\n", tests, name, words)
}

// Returns the first number below value that is not an integer of 64 bits, or "".
func inexact(value any) string {
	switch v := value.(type) {
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err != nil {
			return v.String()
		}
	case []any:
		for _, item := range v {
			if s := inexact(item); s != "" {
				return s
			}
		}
	case map[string]any:
		for _, item := range v {
			if s := inexact(item); s != "" {
				return s
			}
		}
	}
	return ""
}

func main() {
	command := exec.Command(os.Args[1], "serve")
	in, _ := command.StdinPipe()
	out, _ := command.StdoutPipe()
	if err := command.Start(); err != nil {
		fmt.Println("Bail out!", err)
		os.Exit(1)
	}
	lines := bufio.NewReaderSize(out, 1<<24)
	bad := ""
	call := func(id, operation, payload string) json.RawMessage {
		fmt.Fprintf(in, `{"type":%q,"request_id":%s,"payload":%s}`+"\n", operation, id, payload)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return nil
			}
			var m message
			var all any
			d := json.NewDecoder(bytes.NewReader(line))
			d.UseNumber()
			if d.Decode(&all) != nil || json.Unmarshal(line, &m) != nil {
				bad = string(line)
			} else if s := inexact(all); s != "" {
				bad = s
			}
			if m.Type == "response" && string(m.RequestID) == id {
				if m.Status != "ok" {
					bad = string(line)
				}
				return m.Payload
			}
		}
	}
	call("1", "session.start", fmt.Sprintf(`{"working_directories":[{"path":%q}]}`, os.Args[2]))
	for i := 0; i < 40; i++ {
		id := strconv.FormatInt(9007199254740000+int64(i), 10)
		ok(call(id, "fs.write", fmt.Sprintf(`{"path":"f%d","content":"x"}`, i)) != nil, "an id of 16 digits comes back: "+id)
	}
	var history struct {
		Steps []step `json:"steps"`
	}
	err := json.Unmarshal(call("2", "undo.history", "{}"), &history)
	ok(err == nil && len(history.Steps) == 40, "the history decodes", err, len(history.Steps))
	for _, s := range history.Steps {
		if s.StepID < 1 || s.EndedUs < s.BeganUs || s.BeganUs < 1e15 {
			bad = fmt.Sprint(s)
		}
	}
	call("3", "fs.list", `{"path":"."}`)
	ok(bad == "", "every number of every message is an integer of 64 bits", bad)
	in.Close()
	ok(command.Wait() == nil, "the end of input is the end")
	fmt.Printf("1..%d\n", tests)
	if failed {
		os.Exit(1)
	}
}
