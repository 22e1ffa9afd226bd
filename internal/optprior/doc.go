// Package optprior is where agents believe the optimum to be: densities over the designs, as
// normals around points ([Mixture]), what several of them together add to an acquisition
// function ([Where]), and the exchange of agents that tell the point coarsely ([NewCoarse]).
package optprior
