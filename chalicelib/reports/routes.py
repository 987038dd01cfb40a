"""Reports of a period: a job adds them up."""

from chalice.app import Response

from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import VIEWS, JobType, JobView, StartedJob, show
from chalicelib.problems import Forbidden
from chalicelib.reports.model import NewReport
from chalicelib.reports.schemas import ShownReportJob, show_report
from chalicelib.request import IDEMPOTENT, Role, Routes, body_once, caller, reply_text

routes = Routes(__name__, "Reports")

VIEWS[JobType.REPORT] = JobView(
    show,
    show_report,
    whole=ShownReportJob,
    readers_get_file=lambda job: not job.request.get("costs"),
)


@routes.post(
    "/api/admin/reports",
    "Report sales, money or tax of a period",
    role=Role.READER,
    body=NewReport,
    answers={202: StartedJob},
    headers=IDEMPOTENT,
    problems=[Forbidden],
)
def start() -> Response:
    """Adds up the orders or the transactions of some days of the shop. The job has `report` when it
    is COMPLETED, and `downloadUrl`, a CSV with up to 10,000 rows. Sales are by the date of the
    order, money by the day on which a payment or a refund was recorded, or as `clock` says; by
    product, an order counts at each of its products.
    """
    report, once = body_once(NewReport)
    if report.costs and not caller().sees_costs:
        raise Forbidden("What products cost needs the role STAFF.")
    about = {**report.model_dump(by_alias=True, mode="json"), "format": "csv"}
    return reply_text(202, jobs.create(JobType.REPORT, about, once=once))
