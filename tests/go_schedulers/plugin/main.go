// A kube-scheduler with a plug-in of its own: of the nodes on which a pod fits, the last by name is the best.
package main

import (
	"context"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/cli"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const name = "LastNode"

type lastNode struct{}

func (lastNode) Name() string { return name }

// Score is the last digit of the node's name.
func (lastNode) Score(_ context.Context, _ framework.CycleState, _ *v1.Pod, node framework.NodeInfo) (int64, *framework.Status) {
	called := node.Node().Name
	return int64(called[len(called)-1] - '0'), nil
}

func (lastNode) ScoreExtensions() framework.ScoreExtensions { return nil }

func make(context.Context, runtime.Object, framework.Handle) (framework.Plugin, error) { return lastNode{}, nil }

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(name, make))))
}
