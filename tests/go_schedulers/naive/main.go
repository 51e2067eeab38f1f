// A scheduler of a hundred lines: first come, first served, the first node that is free. With NAIVE it misbehaves:
// dies, hangs, binds a pod twice, or to a node that does not exist.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

type object struct {
	Metadata struct{ Name, Namespace string }
	Spec     struct{ NodeName string }
}

type event struct {
	Type   string
	Object object
}

var server string

func main() {
	flag.StringVar(&server, "server", "", "address of the API server")
	version := flag.Bool("version", false, "")
	flag.Parse()
	if *version {
		fmt.Println("naive v1.0.0")
		return
	}
	time.Sleep(1500 * time.Millisecond) // programs do this, and nobody should have to wait for it
	var nodes struct{ Items []object }
	get("/api/v1/nodes", &nodes)
	free, on := []string{}, map[string]string{}
	for _, node := range nodes.Items {
		free = append(free, node.Metadata.Name)
	}
	waiting := []string{}
	answer, err := http.Get(server + "/api/v1/pods?watch=true&fieldSelector=status.phase!=Succeeded")
	check(err)
	for frames := json.NewDecoder(answer.Body); ; {
		var found event
		check(frames.Decode(&found))
		name := found.Object.Metadata.Name
		switch {
		case found.Type == "ADDED" && found.Object.Spec.NodeName == "":
			misbehave(name)
			waiting = append(waiting, name)
		case found.Type == "DELETED" && on[name] != "":
			free = append([]string{on[name]}, free...)
			delete(on, name)
		}
		for len(waiting) > 0 && len(free) > 0 {
			on[waiting[0]] = free[0]
			bind(waiting[0], free[0])
			waiting, free = waiting[1:], free[1:]
		}
	}
}

func misbehave(pod string) {
	if at := os.Getenv("NAIVE_AT"); at != "" && at != pod {
		return
	}
	switch os.Getenv("NAIVE") {
	case "dies":
		fmt.Println("cannot go on with", pod)
		os.Exit(3)
	case "hangs":
		for {
		}
	case "sleeps": // a timer of ten seconds, at every pod
		time.Sleep(10 * time.Second)
	case "nowhere":
		bind(pod, "nowhere")
	}
}

func bind(pod, node string) {
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q},"target":{"kind":"Node","name":%q}}`, pod, node)
	times := 1
	if os.Getenv("NAIVE") == "twice" {
		times = 2
	}
	for range times {
		url := fmt.Sprintf("%s/api/v1/namespaces/default/pods/%s/binding", server, pod)
		answer, err := http.Post(url, "application/json", strings.NewReader(body))
		check(err)
		var said bytes.Buffer
		said.ReadFrom(answer.Body)
		answer.Body.Close()
		fmt.Println(time.Now().UTC().Format(time.RFC3339Nano), pod, node, answer.Status)
	}
}

func get(path string, into any) {
	answer, err := http.Get(server + path)
	check(err)
	defer answer.Body.Close()
	check(json.NewDecoder(answer.Body).Decode(into))
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
