//go:build !race && unix

package main_test

const slowness = 1
