//go:build long && unix

package main_test

import "testing"

func TestLongManyClientsAndKills(t *testing.T) {
	(&load{t: t, dir: shortTempDir(t), clients: 100, tasks: 100, trials: 100, kills: 10}).run()
}
