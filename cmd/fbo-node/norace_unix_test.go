//go:build !race && unix

package main

const slowness = 1
