package alone

// Optima is what Suggest samples before it maximises.
var Optima = MES.optima
