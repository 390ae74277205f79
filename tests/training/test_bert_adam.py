import math

import pytest
import torch

from whatchanged.training.bert_adam import BertAdam


def moves(gradients, beta2, lr=1.0, decay=0.0, start=0.0):
    """Where one number goes under these gradients."""
    parameter = torch.nn.Parameter(torch.tensor([start], dtype=torch.float64))
    optimizer = BertAdam([parameter], lr=lr, betas=(0.9, beta2), eps=1e-6, weight_decay=decay)
    places = []
    for gradient in gradients:
        parameter.grad = torch.tensor([gradient], dtype=torch.float64)
        optimizer.step()
        places.append(parameter.item())
    return places


@pytest.mark.parametrize(("beta2", "first"), [(0.98, 0.7071), (0.999, 3.1622)])
def test_the_first_move_is_not_corrected_for_bias(beta2, first):
    assert moves([1.0], beta2)[0] == pytest.approx(-first, abs=2e-4)


def test_several_moves_by_hand():
    m = v = place = 0.0
    wanted = []
    for gradient in (0.5, -0.25, 0.8):
        m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
        place -= 0.1 * (m / (math.sqrt(v) + 1e-6) + 0.2 * place)
        wanted.append(place)
    assert moves([0.5, -0.25, 0.8], 0.98, lr=0.1, decay=0.2) == pytest.approx(wanted, rel=1e-9)


def test_each_tensor_is_cut_to_norm_one_on_its_own():
    parameters = [torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(2))]
    optimizer = BertAdam(parameters, lr=1.0, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0)
    for parameter, gradient in zip(parameters, ([30.0, 40.0], [0.3, 0.4]), strict=True):
        parameter.grad = torch.tensor(gradient)
    optimizer.step()
    for parameter, gradient in zip(parameters, ([0.6, 0.8], [0.3, 0.4]), strict=True):
        assert optimizer.state[parameter]["m"].tolist() == pytest.approx(
            [0.1 * g for g in gradient], rel=1e-5
        )


def test_what_has_no_gradient_stays_and_has_no_moments():
    still = torch.nn.Parameter(torch.ones(2))
    optimizer = BertAdam([still], lr=1.0, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.5)
    optimizer.step()
    assert still.tolist() == [1, 1] and not optimizer.state[still]
