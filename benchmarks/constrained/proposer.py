"""Suggests designs by BoTorch's constrained expected improvement.

A request, of internal/python, holds all that is known:

    {"x": [[...], ...], "y": [...], "c": [[...], ...], "seed": 7}

with points of the unit cube, the objective, larger being better, and the values of
each constraint at these points, at most 0 where it is kept. The answer is {"x": [...]}.
"""

import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import GenericMCObjective
from botorch.fit import fit_gpytorch_mll
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms.outcome import Standardize
from botorch.optim import optimize_acqf
from botorch.sampling.normal import SobolQMCNormalSampler
from gpytorch.mlls import SumMarginalLogLikelihood

PACKAGES = ("botorch", "gpytorch", "torch")
SAMPLES, RESTARTS, RAW_SAMPLES = 512, 10, 512

torch.set_num_threads(1)


def answer(request):
    torch.manual_seed(request["seed"])
    x = torch.tensor(request["x"], dtype=torch.double)
    outputs = [request["y"]] + request["c"]
    model = ModelListGP(
        *(
            SingleTaskGP(x, torch.tensor(values, dtype=torch.double).unsqueeze(-1), outcome_transform=Standardize(m=1))
            for values in outputs
        )
    )
    fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
    acquisition = qLogNoisyExpectedImprovement(
        model=model,
        X_baseline=x,
        sampler=SobolQMCNormalSampler(torch.Size([SAMPLES]), seed=request["seed"]),
        objective=GenericMCObjective(lambda samples, X=None: samples[..., 0]),
        constraints=[lambda samples, i=i: samples[..., i] for i in range(1, len(outputs))],
        prune_baseline=True,
    )
    bounds = torch.tensor([[0.0] * x.shape[-1], [1.0] * x.shape[-1]], dtype=torch.double)
    best, _ = optimize_acqf(acquisition, bounds=bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
    return {"x": best.squeeze(0).tolist()}
