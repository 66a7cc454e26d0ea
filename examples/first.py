import numpy as np

import rlx

program = rlx.load("examples/mlp.onnxtxt")
print(program)
with rlx.use(backend="numpy"), rlx.Session() as session:
    model = session.compile(program)
    (y,) = model(np.array([[1, 2], [3, -4]], np.float32))
    print(y.tolist(), "from", model.backend)
