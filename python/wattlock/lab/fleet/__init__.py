"""The fleet of a lab: studies are queued for targets, and each process of them is carried out once.

How a study gets to a device:

1. A page or a program puts a job into the queue: a study, a target, options (`queue.enqueue`). The queue is two tables
   of the lab's database: jobs and tasks.
2. `conductor`, a process of its own, takes the oldest job of each target and begins or resumes its run, by the same
   session as `wattlock run`. The session's target is a `Queued` one: each process of the probe becomes a task, known
   by run, process and shard.
3. The task's plan is signed by the lab's key and sent by a scheduler of `distributed` to the one worker of its target.
4. `worker` verifies the signature before anything starts on the device, and gives back what the probe wrote.
5. The result is kept with the task, which is done then: a second result of the same task is refused. The session takes
   it from there, whichever process of the lab was killed in between.
6. A sealed run is taken into the lab as a pushed one is.
"""
