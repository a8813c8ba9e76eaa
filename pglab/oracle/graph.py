"""Autograd's graph of a model that was read: it holds as long as the model keeps its type of number."""

from torch.autograd.graph import get_gradient_edge


class Graph:
    """Remembers where the graph ends for each parameter.

    Args:
      parameters: a list of them, those that the graph was made with.
    """

    def __init__(self, parameters):
        self.parameters, self.ends = parameters, ends(parameters)

    def check(self):
        """Refuses a model of another type of number than then: the graph would give zeros as its gradient.

        Raises:
          ValueError: some parameter has another end now.
        """
        if any(now is not then for now, then in zip(ends(self.parameters), self.ends, strict=True)):
            raise ValueError(
                "model was turned into another type of number (by .float(), .double(), .to(...)) after it was read here; "
                "turn it first, then call oracle.exact."
            )


def ends(parameters):
    return [get_gradient_edge(parameter).node for parameter in parameters]
