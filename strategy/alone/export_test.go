package alone

// Optima is what Suggest samples before it maximises.
var Optima = MES.optima

// Beta is the square of the deviations of a trial's bound.
var Beta = UCB.beta

// OverIncumbent is the predictor, and the number, of the expected improvement that LogEI maximises.
var OverIncumbent = overIncumbent
