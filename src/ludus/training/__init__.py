"""Training: self-play, replay, learner, checkpoint, again and again, in the folder of a run (see runs/run.py).

session     a whole training from settings to finished run: `ludus.train`
trainer     one run in memory; `iterate` is one iteration of the algorithm
selfplay    where games are played; worker, recording and resigning are its parts
joining     games are played on a cluster: cluster_play freely, lockstep repeatably, cluster_actor on the nodes
learner     gradient steps and the averaged weights that play
preflight   measures what this machine does, and plans the run by it
"""
