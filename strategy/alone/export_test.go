package alone

// Optima is what Suggest samples before it maximises.
var Optima = MES.optima

// Beta is the square of the deviations of a trial's bound.
var Beta = UCB.beta
